type Listed = { readonly id: string }

/** The item to select when this one is done: the next one, or the previous one at the end of the list. */
export function neighbourOf(list: readonly Listed[], id: string): string | undefined {
  const index = list.findIndex((each) => each.id === id)
  if (index === -1) return list[0]?.id
  return (list[index + 1] ?? list[index - 1])?.id
}

/** The item that many steps away, within the list. */
export function stepFrom(list: readonly Listed[], id: string | undefined, by: number): string | undefined {
  const index = list.findIndex((each) => each.id === id)
  if (index === -1) return list[0]?.id
  return list[Math.max(0, Math.min(list.length - 1, index + by))]?.id
}
