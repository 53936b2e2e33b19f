import type { Colours } from '../../core/catalog/colours.ts'
import { nameOf } from '../http/responder.ts'
import { enhance } from './browser/enhance.ts'
import { sqlConsole } from './browser/console.ts'
import { icon } from './icon.ts'
import { style } from './style.ts'

/** A file that pages are drawn with. Another content has another name, so it may be kept for ever. */
export interface Asset {
  readonly file: string
  readonly mediaType: string
  readonly text: string
}

export interface Assets {
  readonly style: Asset
  readonly script: Asset
  /** Of the page for SQL alone. */
  readonly console: Asset
  readonly icon: Asset
}

export function assetsIn(colours: Colours): Assets {
  return {
    style: asset(style(colours), 'css', 'text/css; charset=utf-8'),
    script: asset(scriptOf(enhance), 'js', 'text/javascript; charset=utf-8'),
    console: asset(scriptOf(sqlConsole), 'js', 'text/javascript; charset=utf-8'),
    icon: asset(icon(colours), 'svg', 'image/svg+xml'),
  }
}

function asset(text: string, ending: string, mediaType: string): Asset {
  return { file: `${nameOf(text)}.${ending}`, mediaType, text }
}

/** A function of `browser` as a script that runs it: what it needs, it has in itself. */
function scriptOf(run: () => unknown): string {
  return `(${run.toString()})()`
}
