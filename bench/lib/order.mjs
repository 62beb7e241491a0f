import { z } from 'zod'

const LINES = 20

/** Rich arguments: nested objects, lists and texts, about 3 KB as JSON. */
export const orderSchema = z.strictObject({
  id: z.int(),
  customer: z.strictObject({ name: z.string(), email: z.string(), isBusiness: z.boolean() }),
  address: z.strictObject({ street: z.string(), city: z.string(), postcode: z.string(), country: z.string() }),
  lines: z.array(
    z.strictObject({
      sku: z.string(),
      quantity: z.int(),
      price: z.number(),
      tags: z.array(z.string()),
      note: z.string(),
    }),
  ),
  notes: z.string(),
})

/** An order like any other, with an id of its own. */
export function orderOf(id) {
  const lines = Array.from({ length: LINES }, (_, line) => ({
    sku: `SKU-${line}-${id}`,
    quantity: (line % 4) + 1,
    price: line * 3 + 0.5,
    tags: ['blue', `aisle ${line}`, 'gift'],
    note: 'Wrap it in paper, and leave it at the gate.',
  }))
  return {
    id,
    customer: { name: 'Ada Lovelace', email: 'ada@example.org', isBusiness: false },
    address: { street: '12 St James Square', city: 'London', postcode: 'SW1Y 4JH', country: 'GB' },
    lines,
    notes: 'Deliver in the morning. Ring twice. The dog is friendly.',
  }
}

export function totalOf({ lines }) {
  return lines.reduce((sum, { quantity, price }) => sum + quantity * price, 0)
}
