import { text } from 'node:stream/consumers'

/**
 * Removes packages of development from the output of `npm sbom` (CycloneDX). npm's own option would also omit
 * packages of the same name in another version.
 */

interface Bom {
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly properties?: readonly { readonly name: string; readonly value: string }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const bom = JSON.parse(await text(process.stdin)) as Bom
const forDevelopment = new Set(
  bom.components
    .filter(({ properties }) => properties?.some(({ name }) => name === 'cdx:npm:package:development'))
    .map((component) => component['bom-ref']),
)
const ships = {
  ...bom,
  components: bom.components.filter((component) => !forDevelopment.has(component['bom-ref'])),
  dependencies: bom.dependencies
    .filter(({ ref }) => !forDevelopment.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((name) => !forDevelopment.has(name)),
    })),
}
process.stdout.write(`${JSON.stringify(ships, null, 2)}\n`)
