/** Joins class names and skips falsy ones: `classNames(styles.row, isActive && styles.active)`. */
export function classNames(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
