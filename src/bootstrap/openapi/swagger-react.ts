/** The part of React that Swagger UI passes to a plugin, as far as the plugins of this page use it. */
export interface React {
  readonly createElement: (
    type: unknown,
    properties: object | null,
    ...children: unknown[]
  ) => unknown;
  readonly useMemo: <T>(make: () => T, of: readonly unknown[]) => T;
  readonly useEffect: (effect: () => (() => void) | undefined, of?: readonly unknown[]) => void;
}
