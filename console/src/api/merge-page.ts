/** How a list is ordered, and what stays in it. */
export interface PageOrder<Item> {
  readonly compare: (a: Item, b: Item) => number
  /** What is not in the list any more stays in sight, as what was read does in a list of unread ones. */
  readonly keepsGone?: boolean
}

/** A page that came now, with what is known of earlier ones: what lies within it but is not in it has gone. */
export function mergePage<Item extends { readonly id: string }>(
  known: readonly Item[],
  page: { readonly items: readonly Item[]; readonly isLast: boolean },
  { compare, keepsGone = false }: PageOrder<Item>,
): Item[] {
  const last = page.items.at(-1)
  const isGone = (item: Item) => !keepsGone && (page.isLast || (last !== undefined && compare(item, last) <= 0))
  const byId = new Map(known.filter((item) => !isGone(item)).map((item) => [item.id, item]))
  for (const item of page.items) byId.set(item.id, item)
  return [...byId.values()].sort(compare)
}
