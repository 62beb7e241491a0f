/** Milliseconds of each unit of time. */
export const TIME_UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

const AMOUNT = /^(\d{1,16}(?:\.\d{1,6})?) ?([A-Za-z]*)$/

/** A whole number from 1 up, of `90s` and the like; nothing when the text is not one. */
export function parseAmount(text: string, units: ReadonlyMap<string, number>): number | undefined {
  const [, count, unit = ''] = AMOUNT.exec(text) ?? []
  const amount = Math.round(Number(count) * (units.get(unit) ?? Number.NaN))
  return Number.isSafeInteger(amount) && amount >= 1 ? amount : undefined
}
