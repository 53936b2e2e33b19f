/** A value as YAML in one line, in which JSON is YAML: plain where it is no more than a word. */
export function inlineYaml(value: unknown): string {
  const isPlain =
    typeof value === 'string' &&
    /^[a-z][a-z0-9_-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/.test(value)
  return isPlain ? value : JSON.stringify(value)
}

/** A comment at the end of a line of YAML. Escapes control characters and line separators, which would end the comment. */
export function yamlComment(text: string): string {
  return `# ${text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (found) => escaped(found))}`
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
