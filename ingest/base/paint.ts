import { styleText } from 'node:util'

type Tone = 'good' | 'bad' | 'warning' | 'quiet' | 'strong'

const styles = { good: 'green', bad: 'red', warning: 'yellow', quiet: 'gray', strong: 'bold' } as const

export function paint(tone: Tone, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return stream.isTTY && stream.hasColors() ? styleText(styles[tone], text) : text
}
