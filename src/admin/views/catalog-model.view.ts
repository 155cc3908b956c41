import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Catalog } from '../../catalog/catalog.js';
import {
  type CatalogCheck,
  differencesOf,
  ROW_SOURCES,
  type RowSource,
  sourceOf,
} from '../../catalog/catalog-check.js';
import type { ModelRow } from '../../catalog/model-row.js';
import { PriceView, viewPrice } from '../../catalog/price.view.js';
import { type FieldDifference, type ModelDifference } from '../../catalog/row-differences.js';
import type { CostedRoute } from '../../catalog/route-cost.js';
import { pageOfViews } from '../../common/paging/page.view.js';

/** A route of a model. */
export class CatalogRouteView {
  @ApiProperty({ example: 'openai', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({ example: 'gpt-5', description: "The provider's name for the model" })
  upstream_model!: string;

  @ApiProperty({ description: 'Whether the provider is configured and has the operation' })
  can_run!: boolean;

  @ApiProperty({
    type: PriceView,
    nullable: true,
    description: 'What the provider takes, in the form of a price; null: the overlay names none',
  })
  cost!: PriceView | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'usage.cost',
    description: "The provider's own figure that comes before `cost`; null: none is read",
  })
  reported_cost!: string | null;
}

/** A field of a model that the overlay changes. */
export class FieldDifferenceView implements FieldDifference {
  @ApiProperty({
    example: 'limits.max_output_tokens',
    description: 'The path of the field in the model. Amounts are micro-USD',
  })
  field!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '128000',
    description: 'Its value without the overlay; null: it is not there',
  })
  before!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '64000',
    description: 'Its value with the overlay; null: it is not there',
  })
  after!: string | null;
}

/** A field of a model that a checked overlay would change. */
export class ModelDifferenceView implements ModelDifference {
  @ApiProperty({ example: 'gen-5', description: 'Id of the model' })
  model!: string;

  @ApiProperty({
    example: 'limits.max_output_tokens',
    description: 'The path of the field in the model. Amounts are micro-USD',
  })
  field!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '128000',
    description: 'As it is now; null: it is not there',
  })
  before!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '64000',
    description: 'As it would be; null: it would not be there',
  })
  after!: string | null;
}

/** A model as the gateway sells it now. */
export class CatalogModelView {
  @ApiProperty({ example: 'gen-5', description: 'Id of the model' })
  id!: string;

  @ApiProperty({ enum: ['catalog_model'], description: 'Says what kind of object this is' })
  object!: 'catalog_model';

  @ApiProperty({ example: 'chat', description: 'The operation that it is for' })
  operation!: string;

  @ApiProperty({
    enum: ROW_SOURCES,
    description: 'Whether the file of `CATALOG_FILE` added or changed it',
  })
  source!: RowSource;

  @ApiProperty({
    type: [FieldDifferenceView],
    maxItems: 200,
    description:
      'How the overlay changed the built-in row: the first 200 fields, without costs, which are with the routes. Empty where the row is built in or added. Values of headers and constants are not shown',
  })
  differences!: FieldDifference[];

  @ApiProperty({ type: [String], description: 'Further names that callers may use' })
  aliases!: string[];

  @ApiProperty({ type: PriceView, description: 'The listed price' })
  price!: PriceView;

  @ApiProperty({ type: [CatalogRouteView], description: 'In order of preference' })
  routes!: CatalogRouteView[];
}

/** The models, all on one page. */
export class CatalogModelPage extends pageOfViews(CatalogModelView) {}

/** What an overlay would change, or what is wrong with it. */
export class CatalogCheckView {
  @ApiProperty({ enum: ['catalog_check'], description: 'Says what kind of object this is' })
  object!: 'catalog_check';

  @ApiProperty({ description: 'Whether a gateway would start with it' })
  ok!: boolean;

  @ApiProperty({
    type: [String],
    maxItems: 100,
    description: 'What is wrong with it: the first 100 faults, each of at most 1,000 characters',
  })
  faults!: readonly string[];

  @ApiPropertyOptional({
    type: 'integer',
    description: 'How many faults it has beside these; absent where there are none',
  })
  more_faults?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'How many models there would be' })
  models?: number;

  @ApiPropertyOptional({ type: [String], description: 'Models that it adds' })
  added?: readonly string[];

  @ApiPropertyOptional({ type: [String], description: 'Built-in models that it changes' })
  changed?: readonly string[];

  @ApiPropertyOptional({ type: [String], description: 'Models that would not be sold' })
  disabled?: readonly string[];

  @ApiPropertyOptional({ type: [String], description: 'Providers that it adds' })
  providers?: readonly string[];

  @ApiPropertyOptional({ type: 'integer', description: 'How many further names of voices it has' })
  voice_aliases?: number;

  @ApiPropertyOptional({
    type: [ModelDifferenceView],
    maxItems: 1_000,
    description:
      'Fields that would be other than they are now, costs included: the first 1,000. On the command line they are compared with the built-in rows. A model that would no longer be sold has the field `enabled` alone',
  })
  differences?: readonly ModelDifferenceView[];

  @ApiPropertyOptional({
    type: 'integer',
    description: 'How many such fields there are beside these; absent where there are none',
  })
  more_differences?: number;
}

/** What a check of an overlay found. */
export function viewCatalogCheck({ changes, faults, moreFaults }: CatalogCheck): CatalogCheckView {
  const { voiceAliases, moreDifferences, ...told } = changes ?? {};
  return {
    object: 'catalog_check',
    ok: changes !== undefined,
    ...told,
    ...(voiceAliases !== undefined && { voice_aliases: voiceAliases }),
    ...(moreDifferences !== undefined && { more_differences: moreDifferences }),
    faults,
    ...(moreFaults !== undefined && { more_faults: moreFaults }),
  };
}

/** The model with its routes, of which `catalog` says which can run. */
export function viewCatalogModel(row: ModelRow, catalog: Catalog): CatalogModelView {
  const runnable = catalog.routesOf(row.id);
  return {
    id: row.id,
    object: 'catalog_model',
    operation: row.operation,
    source: sourceOf(row),
    differences: [...differencesOf(row)],
    aliases: [...(row.aliases ?? [])],
    price: viewPrice(row),
    routes: row.routes.map((route) =>
      viewRoute(
        row,
        route,
        runnable.some((one) => isSame(one, route)),
      ),
    ),
  };
}

const isSame = (one: CostedRoute, other: CostedRoute): boolean =>
  one.provider === other.provider && one.upstreamModel === other.upstreamModel;

function viewRoute(row: ModelRow, route: CostedRoute, canRun: boolean): CatalogRouteView {
  const { operation, limits } = row;
  const { provider, upstreamModel, cost, reportedCost, terms } = route;
  return {
    provider,
    upstream_model: upstreamModel,
    can_run: canRun,
    cost:
      cost === undefined
        ? null
        : viewPrice({ operation, limits, price: cost, ...(terms && { terms }) }),
    reported_cost: reportedCost?.figure ?? null,
  };
}
