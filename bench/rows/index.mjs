/** The rows of the table, in reading order; each is a file of its name in this folder. */
export const ROWS = [
  { name: 'sequential-call', title: 'Governed call, one after another' },
  { name: 'calls-in-flight', title: '10,000 calls in flight' },
  { name: 'heap-kept', title: 'Heap kept', rounds: 5 },
  { name: 'policy-cost', title: 'Policy' },
  { name: 'durable-effect', title: 'Durable effect' },
  { name: 'cold-start', title: 'Cold start' },
  { name: 'type-cost', title: 'Type cost' },
]
