import { escapeMarkup } from '../../core/text.ts'
import type { PageContext } from './frame.ts'
import { codePart, html, type Html } from './html.ts'
import type { PageService } from './service.ts'

export const [frameWidth, frameHeight] = [640, 600]

export function iframeLine(address: string, title: string, width = frameWidth, height = frameHeight): string {
  return `<iframe src="${escapeMarkup(address)}" title="${escapeMarkup(title)}" width="${width}" height="${height}" style="border:0;max-width:100%" loading="lazy"></iframe>`
}

export function embedPart(
  { words }: PageContext,
  { publicUrl }: PageService,
  path: string,
  title: string,
  height = frameHeight,
): Html {
  return html`<details>
    <summary>${words.embed}</summary>
    <p>${words.embedHow}</p>
    ${codePart(iframeLine(`${publicUrl.origin}${path}`, title, frameWidth, height), words)}
  </details>`
}

/** Link by which sites find a frame (https://oembed.com). */
export function oEmbedLink({ publicUrl, context }: PageService, path: string): Html {
  const address = `${publicUrl.origin}${context.addresses.oEmbed}?url=${encodeURIComponent(publicUrl.origin + path)}`
  return html`<link rel="alternate" type="application/json+oembed" href="${address}" />`
}
