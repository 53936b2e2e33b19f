export interface DescribedSchema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, DescribedSchema>>
  readonly items?: DescribedSchema
  readonly additionalProperties?: boolean | DescribedSchema
  readonly anyOf?: readonly DescribedSchema[]
}

type DescribedKey = readonly [key: string, meaning: string]

export function catalogKeys(schema: DescribedSchema): Readonly<Record<string, readonly DescribedKey[]>> {
  const source = 'datasets.tables.source.'
  const keys = keysBelow(schema, '')
  return {
    'source key': keys.flatMap(([key, meaning]): DescribedKey[] =>
      key.startsWith(source) ? [[key.slice(source.length), meaning]] : [],
    ),
    'catalog key': keys.filter(([key]) => !key.startsWith(source)),
  }
}

function keysBelow(
  { properties = {}, items, additionalProperties, anyOf = [] }: DescribedSchema,
  above: string,
): DescribedKey[] {
  const ownKeys = Object.entries(properties).flatMap(([name, property]): DescribedKey[] => [
    ...(property.description === undefined ? [] : [[above + name, property.description] as const]),
    ...keysBelow(property, `${above}${name}.`),
  ])
  return [
    ...ownKeys,
    ...(items === undefined ? [] : keysBelow(items, above)),
    ...(typeof additionalProperties === 'object' ? keysBelow(additionalProperties, `${above}*.`) : []),
    ...anyOf.flatMap((alternative) => keysBelow(alternative, above)),
  ]
}
