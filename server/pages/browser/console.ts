/// <reference lib="dom" />

/** To be written. */
export function console(): void {
  document.querySelector('[data-console]')
}
