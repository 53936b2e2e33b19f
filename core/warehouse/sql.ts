/** A name from the catalog as an SQL identifier. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A constant of ours (a path, a name from the catalog) as an SQL text; values of readers are parameters. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
