import type { FieldType } from '../../core/catalog/field-types.ts'

/** What is wrong with a parameter, as a sentence that says what would be right. */
export class Invalid {
  readonly message: string
  /** The type that a value must be of; undefined where something else is wrong. */
  readonly type: FieldType | undefined

  constructor(message: string, type?: FieldType) {
    this.message = message
    this.type = type
  }
}
