import type { Colours } from '../../core/catalog/colours.ts'

/** Rows in a frame, in the colour of the service. */
export function icon({ light }: Colours): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${light}"/><path d="M7 10h18M7 16h18M7 22h11" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>`
}
