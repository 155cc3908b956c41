/// <reference lib="es2024.string" />

/** Whether every text and key in a JSON value is well-formed Unicode without U+0000 (decision G-03). */
export function isCleanJson(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isCleanJson);
  return Object.entries(value).every(([key, inner]) => isCleanJson(key) && isCleanJson(inner));
}
