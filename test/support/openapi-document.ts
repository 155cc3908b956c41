import { readFileSync } from 'node:fs';

/** What the tests read of a schema. */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> };
}
interface Parameter extends OpenApiSchema {
  readonly name: string;
  readonly in: string;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: OpenApiSchema }>>;
  };
  readonly responses: Readonly<
    Record<string, OpenApiSchema & { readonly content?: Readonly<Record<string, Media>> }>
  >;
}
interface Media {
  readonly schema?: OpenApiSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, object>>;
  };
}

const document = JSON.parse(
  readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'),
) as OpenApi;

export const { paths, components } = document;

/** All operations of the document. */
export const operations = Object.values(paths).flatMap((methods) => Object.values(methods));

/** The schema that a reference names. */
export const namedSchema = ({ $ref: reference = '' }: OpenApiSchema): OpenApiSchema | undefined =>
  components.schemas[reference.split('/').at(-1) ?? ''];
