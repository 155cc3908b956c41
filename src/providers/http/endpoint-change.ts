/** How an operator's upstream differs from the adapter's table in one endpoint (interface: `CATALOG_FILE`). */
export interface EndpointChange {
  /** Name of the endpoint, as in the routes of the catalog. */
  readonly name: string;
  /** The endpoint of the table that it copies, where the table has none of its name. */
  readonly like?: string | undefined;
  readonly path?: string | undefined;
  /** Upstream names of fields, by our field name. */
  readonly names: Readonly<Record<string, string>>;
  /** Upstream values, by field and our value. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
