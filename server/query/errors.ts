import type { FieldType } from '../../core/catalog/field-types.ts'

/** Expected type, or what is wrong with the name; pages explain these in their language. */
type InvalidReason = FieldType | 'unknown-parameter' | 'not-a-filter' | 'unknown-name'

export interface ParameterError {
  readonly parameter: string
  readonly message: string
  /** Not part of JSON answers. */
  readonly reason?: InvalidReason | undefined
}

export class InvalidQuery extends Error {
  readonly errors: readonly ParameterError[]

  constructor(errors: readonly ParameterError[]) {
    super(errors.map(({ message }) => message).join(' '))
    this.name = 'InvalidQuery'
    this.errors = errors
  }
}

export class MalformedQuery extends Error {
  constructor(cause: unknown) {
    super('the query string cannot be decoded', { cause })
    this.name = 'MalformedQuery'
  }
}

export class QueryTooLong extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueryTooLong'
  }
}

export class InvalidPage extends Error {
  constructor() {
    super('there is no such page')
    this.name = 'InvalidPage'
  }
}

/** An invalid value, with a sentence that states a valid one. */
export class Invalid {
  readonly message: string
  readonly reason: InvalidReason | undefined

  constructor(message: string, reason?: InvalidReason) {
    this.message = message
    this.reason = reason
  }
}
