/** A value as YAML in one line, in which JSON is YAML: plain where it is no more than a word. */
export function inlineYaml(value: unknown): string {
  const isPlain =
    typeof value === 'string' &&
    /^[a-z][a-z0-9_-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/.test(value)
  return isPlain ? value : JSON.stringify(value)
}
