/** What a browser may not do on our pages, as OWASP lists it: they need none of it. */
const denied = [
  'accelerometer',
  'autoplay',
  'camera',
  'cross-origin-isolated',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'keyboard-map',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-get',
  'screen-wake-lock',
  'sync-xhr',
  'usb',
  'web-share',
  'xr-spatial-tracking',
]

/** What pages have that are looked at, besides the headers of every answer. */
export function pageHeaders(policy: string, language: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policy,
    'Content-Language': language,
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Permissions-Policy': denied.map((feature) => `${feature}=()`).join(', '),
  }
}
