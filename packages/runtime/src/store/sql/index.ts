/** What a store in another database is made of: the repositories, which are written for every driver, and their limits. */
export { postgresCallSearch } from './call-search.ts'
export { createEvents } from './events.ts'
export { amountOf, budgetLock, budgets, hasRoom, NOTHING_USED, toUsage, USAGE_COLUMNS } from './limits.ts'
export { PROCESS_DEAD_MS } from './processes.ts'
export { bindAll, createRepositories, sweep } from './repositories.ts'
