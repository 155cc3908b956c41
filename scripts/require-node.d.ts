/** Whether a version such as `20.19.1` is in a range such as `^20.19 || >=24.11`. */
export function isInRange(version: string, range: string): boolean;
