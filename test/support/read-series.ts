/** One value in the text format of Prometheus. */
export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Reads the text format of Prometheus; throws if a line is none of it. */
export function readSeries(text: string): Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = LINE.exec(line) ?? []
      if (name === undefined) throw new Error(`Not a series: ${line}`)
      const pairs = Array.from(labels.matchAll(LABEL), ([, key, text]) => [key!, text!] as const)
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })
}
