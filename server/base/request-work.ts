/** A cheap response, such as an error or a redirect, sets no property. */
export interface RequestWork {
  /** Approximate bytes of the rows in a page or an export. */
  readonly rowBytes?: number
  /** Bytes of a file, or a range of it, that are sent. */
  readonly fileBytes?: number
  /** Weighted values that a scan reads. */
  readonly values?: number
}
