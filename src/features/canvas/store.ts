import { defineStore } from '../../core/sql/index.ts'
import { repository } from './canvas-repository.ts'
import type { CanvasStore } from './types.ts'

/** The version of a canvas that is shown has a row of its own, so that a list reads no others. */
const TABLES = `
CREATE TABLE canvases (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  caller TEXT NOT NULL,
  principal TEXT,
  hidden INTEGER NOT NULL,
  tainted INTEGER NOT NULL,
  last_version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (run, name)
);
CREATE INDEX canvases_age ON canvases (created_at);
CREATE TABLE canvas_versions (
  canvas TEXT NOT NULL,
  n BIGINT NOT NULL,
  artifact TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  call_id TEXT NOT NULL,
  PRIMARY KEY (canvas, n)
);
`

/** The canvases that agents show to people. */
export const canvasStore = defineStore<{ canvases: CanvasStore }>({
  repositories: { canvases: repository },
  migrations: { 10: TABLES },
  durable: { canvases: ['add', 'addVersion', 'hide'] },
  bounds: { canvases: [{ table: 'canvases', methods: ['add'], what: 'canvases' }] },
})
