/** The SQL of stores: what a database must provide, and what the repositories of a store are written with. */
export {
  all,
  type Bindable,
  bind,
  type Driver,
  get,
  perform,
  type Queries,
  type Repository,
  run,
  type SqlValue,
  transaction,
  type Work,
} from './driver.ts'
export { type Columns, entity, flag, json } from './entity.ts'
export { defineStore, type FeatureStore, type StoreOfFeature, type TableBound } from './feature-store.ts'
export {
  ANY_TIME,
  type Condition,
  compareIds,
  count,
  likePattern,
  nextNumber,
  one,
  page,
  pageSize,
} from './query.ts'
