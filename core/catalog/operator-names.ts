/** What may follow a field and `__` in a parameter, so that no field can be called so. */
export const operatorNames = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'range',
  'contains',
  'startswith',
  'isnull',
] as const

export type OperatorName = (typeof operatorNames)[number]
