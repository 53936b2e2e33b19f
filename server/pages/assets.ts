import { logoType, type Catalog } from '../../core/catalog/catalog.ts'
import type { Colours } from '../../core/catalog/colours.ts'
import { contentName } from '../http/responder.ts'
import { chartScript } from './browser/chart-script.ts'
import { enhance } from './browser/enhance.ts'
import { sqlConsole } from './browser/console.ts'
import { style } from './style.ts'
import type { Runtime } from '../routes/runtime.ts'
import type { Resource } from '../http/resource.ts'
import { Problem } from '../http/problems.ts'
import { parseQuery } from '../query/parameters.ts'

export interface Asset {
  readonly file: string
  readonly mediaType: string
  readonly content: string | Uint8Array
}

export interface Assets {
  readonly style: Asset
  readonly script: Asset
  readonly console: Asset
  readonly chart: Asset
  /** The logo, or rows in the colour of the service. */
  readonly icon: Asset
  readonly logo: Asset | null
}

export function assetsIn({ colours, logo: file, logoBytes }: Catalog): Assets {
  const type = file === null ? null : logoType(file)
  const logo =
    type === null || logoBytes === null
      ? null
      : assetOf(logoBytes, type === 'image/png' ? 'png' : 'svg', type)
  return {
    logo,
    style: assetOf(style(colours), 'css', 'text/css; charset=utf-8'),
    script: assetOf(scriptOf(enhance), 'js', 'text/javascript; charset=utf-8'),
    chart: assetOf(scriptOf(chartScript), 'js', 'text/javascript; charset=utf-8'),
    console: assetOf(scriptOf(sqlConsole), 'js', 'text/javascript; charset=utf-8'),
    icon: logo ?? assetOf(icon(colours), 'svg', 'image/svg+xml'),
  }
}

function assetOf(content: string | Uint8Array, ending: string, mediaType: string): Asset {
  return { file: `${contentName(content)}.${ending}`, mediaType, content }
}

/** Turns a function from `browser/`, which must use nothing outside itself, into a script. */
function scriptOf(run: () => unknown): string {
  return `(${run.toString()})()`
}

/** Names of assets change with their content. */
export function assetFiles({ freshness }: Runtime, assets: Assets): Resource {
  const allAssets = (Object.values(assets) as (Asset | null)[]).filter((asset) => asset !== null)
  return {
    path: '/assets/:file',
    name: 'Asset',
    description: 'Styles and scripts of the pages.',
    find: ({ params, target }) => {
      parseQuery(target, [])
      const asset = allAssets.find(({ file }) => file === params['file'])
      if (asset === undefined) throw new Problem('unknown-address', 'There is no such file.')
      return {
        name: asset.file,
        cacheControl: freshness.immutable,
        mediaType: asset.mediaType,
        headers: {},
        isAtHand: true,
        body: () => ({ pieces: [asset.content] }),
      }
    },
  }
}

function icon({ light }: Colours): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${light}"/><path d="M7 10h18M7 16h18M7 22h11" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>`
}
