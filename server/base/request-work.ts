/** Work of a cheap response, such as an error or a redirect, has nothing set. */
export interface RequestWork {
  /** Approximate bytes of rows, as a page or an export. */
  readonly rowBytes?: number
  /** Bytes of a file, or a range of it, that are sent. */
  readonly fileBytes?: number
  /** Weighted values that a scan reads. */
  readonly values?: number
}
