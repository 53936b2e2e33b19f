import type { Runtime } from '../runtime.ts'
import type { Resource } from '../../http/resource.ts'
import { Problem } from '../../http/problems.ts'
import type { Asset, Assets } from '../../pages/assets.ts'
import { parseQuery } from '../../query/parameters.ts'

/** What pages are drawn with, under names that change with the content. */
export function assetFiles({ freshness }: Runtime, assets: Assets): Resource {
  const all: readonly Asset[] = Object.values(assets)
  return {
    path: '/assets/:file',
    name: 'Asset',
    description: 'What pages are drawn with.',
    find: ({ params, target }) => {
      parseQuery(target, [])
      const asset = all.find(({ file }) => file === params['file'])
      if (asset === undefined) throw new Problem('unknown-address', 'There is no such file.')
      return {
        name: asset.file,
        cacheControl: freshness.immutable,
        mediaType: asset.mediaType,
        headers: {},
        isAtHand: true,
        body: () => ({ pieces: [asset.text] }),
      }
    },
  }
}
