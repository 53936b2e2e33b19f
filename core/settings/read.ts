import { didYouMean } from '../text.ts'
import { StartError } from '../errors.ts'
import { processBounds, type Bounds } from './bounds.ts'
import { thisMachine } from './machine.ts'
import { logLevels, removedSettings, settingRows, type SettingRow } from './rows.ts'

type Rows = typeof settingRows
export type Settings = { readonly [Key in keyof Rows]: NonNullable<ReturnType<Rows[Key]['parse']>> }

/**
 * Treats empty settings as not set.
 * @throws StartError naming malformed settings with their valid form, and removed ones
 */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  machine = thisMachine(),
): Settings {
  const faults: string[] = []
  // Report a malformed port once, not again in the address that contains it.
  const port = settingRows.port.parse(environment['PORT'] ?? '') ?? settingRows.port.default
  const valueOf = <Key extends keyof Rows>(key: Key, workers = 1): Settings[Key] => {
    const setting: SettingRow<unknown> = settingRows[key]
    const text = environment[setting.name] || setting.default.replace('$PORT', String(port))
    const { auto } = setting
    const value = text === 'auto' && auto !== undefined ? auto({ ...machine, workers }) : setting.parse(text)
    if (value === null)
      faults.push(`${setting.name} is "${text}", and must be ${setting.expects}${hint(key, text)}`)
    return value as Settings[Key]
  }
  const keys = Object.keys(settingRows) as (keyof Rows)[]
  const workers = valueOf('workers')
  // `workers` is read again below, which then reports its fault.
  faults.splice(0)
  const settings = Object.fromEntries(keys.map((key) => [key, valueOf(key, workers)])) as unknown as Settings
  for (const [name, advice] of Object.entries(removedSettings))
    if (environment[name]) faults.push(`${name} ${advice}`)
  if (faults.length > 0) throw new StartError(faults.join('\n'))
  return settings
}

/** Settings of one worker: its share of divided values, and the limits that follow. */
export type ProcessSettings = Settings & Bounds & { readonly processors: number }

export function workerShare(settings: Settings, machine = thisMachine()): ProcessSettings {
  const { workers } = settings
  const entries = Object.entries(settings).map(([key, value]) => {
    const { share }: SettingRow<unknown> = settingRows[key as keyof Rows]
    return [key, share === undefined ? value : share(value, workers)]
  })
  const values = Object.fromEntries(entries) as Settings
  const { processors } = machine
  return { ...values, ...processBounds({ ...values, processors: processors / workers }), processors }
}

function hint(key: keyof Rows, text: string): string {
  return key === 'logLevel' ? didYouMean(text, logLevels) : ''
}
