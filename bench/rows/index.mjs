/** The rows of the table, in reading order; each is a file of its name in this folder. */
export const ROWS = [
  { name: 'sequential-call', title: 'Governed call, one after another' },
  { name: 'calls-in-flight', title: '10,000 calls in flight' },
  { name: 'heap-kept', title: 'Heap kept', rounds: 5 },
  { name: 'policy-cost', title: 'Policy' },
  { name: 'durable-effect', title: 'Durable effect' },
  { name: 'read-file', title: 'Read 10 KB' },
  { name: 'read-page', title: 'Lines from the middle of 200 MB', rounds: 7 },
  { name: 'search-tree', title: 'Search 50,000 files', rounds: 9 },
  { name: 'list-tree', title: 'List a tree of 10,000' },
  { name: 'edit-large', title: 'Edit in a 5 MB file' },
  { name: 'fetch-text', title: 'Fetch 10 KB' },
  { name: 'cold-start', title: 'Cold start' },
  { name: 'type-cost', title: 'Type cost' },
]
