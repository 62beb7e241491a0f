/** How a list is ordered, and what stays in it. */
export interface PageOrder<Item> {
  readonly compare: (a: Item, b: Item) => number
  /** Items that are no longer in the list stay visible, such as messages that were read in a list of unread ones. */
  readonly keepsGone?: boolean
}

/** Merges a new page into the known items. Known items within the range of the page that are not in it are removed. */
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
