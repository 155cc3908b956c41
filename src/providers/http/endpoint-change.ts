/** How an operator's upstream differs from what an adapter's table says of an endpoint (interface: `CATALOG_FILE`). */
export interface EndpointChange {
  /** Name of the endpoint, as in the routes of the catalog. */
  readonly name: string;
  /** The endpoint it is like, where the table has none of its name. */
  readonly like?: string | undefined;
  readonly path?: string | undefined;
  /** Upstream names by field. */
  readonly names: Readonly<Record<string, string>>;
  /** Upstream values by field and value. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
