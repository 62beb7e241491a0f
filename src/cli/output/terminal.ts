import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Colours text where its stream is a terminal that shows colours; NO_COLOR and FORCE_COLOR are heard. */
export function style(format: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return hasColours(stream) ? styleText(format, text) : text
}

/** Whether a person sits there to be asked: questions go to stderr, answers come from stdin. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

function hasColours(stream: NodeJS.WriteStream): boolean {
  if (!stream.isTTY) return false
  return stream.getColorDepth() > 1
}
