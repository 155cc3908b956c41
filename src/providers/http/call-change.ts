/** How an operator's upstream differs from what an adapter's table says of a call (interface: `CATALOG_FILE`). */
export interface CallChange {
  /** Name of the call, as in the routes of the catalog. */
  readonly call: string;
  /** The call it is like, where the table has none of its name. */
  readonly like?: string | undefined;
  readonly path?: string | undefined;
  /** Upstream names by field. */
  readonly names: Readonly<Record<string, string>>;
  /** Upstream values by field and value. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
