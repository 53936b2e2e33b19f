/** Work of a request as far as it is known. If nothing is set, the response is cheap: an error or a redirect. */
export interface RequestWork {
  /** Approximate size of rows that are written, as a page or an export, in bytes. */
  readonly rowBytes?: number
  /** Size of a file or a range of it that is sent, in bytes. */
  readonly fileBytes?: number
  /** Number of weighted values that a scan reads. */
  readonly values?: number
}
