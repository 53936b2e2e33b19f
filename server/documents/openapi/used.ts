import type { Json } from '../view.ts'

type Kinds = Readonly<Record<string, Json>>

/** The components that paths refer to, directly or by way of others. */
export function usedComponents(paths: Json, components: Kinds): Kinds {
  const used = new Set<string>()
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, one] of Object.entries(value)) {
      if (key === '$ref' && typeof one === 'string' && one.startsWith('#/components/')) follow(one)
      else look(one)
    }
  }
  const follow = (reference: string): void => {
    if (used.has(reference)) return
    used.add(reference)
    const [, , kind = '', name = ''] = reference.split('/')
    look(components[kind]?.[name])
  }
  look(paths)
  return Object.fromEntries(
    Object.entries(components).map(([kind, named]) => [
      kind,
      Object.fromEntries(Object.entries(named).filter(([name]) => used.has(`#/components/${kind}/${name}`))),
    ]),
  )
}
