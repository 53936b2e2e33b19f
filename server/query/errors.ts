import type { FieldType } from '../../core/catalog/field-types.ts'

/** A parameter that is not right, and why. */
export interface ParameterError {
  readonly parameter: string
  readonly message: string
  /** The type that a value must be of; not part of the answer to programs. */
  readonly type?: FieldType | undefined
}

/** A query string that does not say what can be asked: every parameter of it that is not right. */
export class InvalidQuery extends Error {
  readonly errors: readonly ParameterError[]

  constructor(errors: readonly ParameterError[]) {
    super(errors.map(({ message }) => message).join(' '))
    this.name = 'InvalidQuery'
    this.errors = errors
  }
}

/** It holds an escape that cannot be decoded. */
export class MalformedQuery extends Error {
  constructor(cause: unknown) {
    super('the query string cannot be decoded', { cause })
    this.name = 'MalformedQuery'
  }
}

/** Links to its other pages could not be followed. */
export class QueryTooLong extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueryTooLong'
  }
}

/** There is no such page. */
export class InvalidPage extends Error {
  constructor() {
    super('there is no such page')
    this.name = 'InvalidPage'
  }
}

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
