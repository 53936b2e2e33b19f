/** What is wrong with a parameter, as a sentence that says what would be right. */
export class Invalid {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}
