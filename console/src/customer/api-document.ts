import { useQuery } from '@tanstack/preact-query';
import { ApiProblem, PATH_PREFIX } from '../shared/api.js';

/** The parts of a schema of openapi.json that make a field of a form. */
export interface FieldSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly oneOf?: readonly FieldSchema[];
  readonly anyOf?: readonly FieldSchema[];
  readonly allOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly discriminator?: { readonly mapping?: Readonly<Record<string, string>> };
}

interface BodyContent {
  readonly schema: FieldSchema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** openapi.json, as this gateway serves it. */
export interface ApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly requestBody?: { readonly content: Readonly<Record<string, BodyContent>> };
        };
      }
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, FieldSchema>> };
}

const MEDIA_OF_THE_SANDBOX = '/sandbox/media/';
const FORM = 'multipart/form-data';

async function readDocument(): Promise<ApiDocument> {
  const response = await fetch(`${PATH_PREFIX}/openapi.json`);
  if (!response.ok) throw new ApiProblem('The gateway did not give its document.', response.status);
  return (await response.json()) as ApiDocument;
}

/** The document of this gateway. It stays as it is until the gateway starts anew. */
export const useApiDocument = () =>
  useQuery({ queryKey: ['openapi.json'], queryFn: readDocument, staleTime: Infinity });

/** Whether this gateway has a sandbox: its examples then name recordings of it. */
export const hasSandbox = ({ paths }: ApiDocument): boolean =>
  JSON.stringify(paths['/v1/audio/transcriptions']?.post ?? '').includes(MEDIA_OF_THE_SANDBOX);

/** The schema itself, where one names another; its own description stays. */
export function resolved(document: ApiDocument, schema: FieldSchema): FieldSchema {
  const { $ref: reference, allOf } = schema;
  if (reference !== undefined) {
    const named = document.components.schemas[reference.split('/').at(-1) ?? ''];
    return { ...(named && resolved(document, named)), ...described(schema) };
  }
  const [first] = allOf ?? [];
  return first === undefined || schema.type !== undefined
    ? schema
    : { ...resolved(document, first), ...schema };
}

const described = ({ description }: FieldSchema) => description !== undefined && { description };

function contentOf(document: ApiDocument, path: string): BodyContent | undefined {
  const content = document.paths[path]?.post?.requestBody?.content;
  return content?.['application/json'] ?? content?.[FORM];
}

/** Whether the operation takes a form, because it takes an upload. */
export const takesForm = (document: ApiDocument, path: string): boolean => {
  const content = document.paths[path]?.post?.requestBody?.content;
  return content?.['application/json'] === undefined && content?.[FORM] !== undefined;
};

/** The schema of a body for a model, by its names: some operations have one for each model. */
export function bodySchemaOf(
  document: ApiDocument,
  path: string,
  ...names: readonly string[]
): FieldSchema {
  const { schema = {} } = contentOf(document, path) ?? {};
  const { mapping = {} } = schema.discriminator ?? {};
  const ofModel = names.map((name) => mapping[name]).find((one) => one !== undefined);
  return resolved(document, ofModel === undefined ? schema : { $ref: ofModel });
}

/** A body of the document's examples, by its name. */
export type Preset = readonly [name: string, body: Readonly<Record<string, unknown>>];

/** The examples of an operation for a model. Where the model has none, those of another model with its name. */
export function presetsOf(document: ApiDocument, path: string, model: string): readonly Preset[] {
  const all = Object.entries(contentOf(document, path)?.examples ?? {}).map(
    ([name, { value }]): Preset => [name, value as Preset[1]],
  );
  const own = all.filter(([, body]) => body.model === model);
  return own.length > 0 ? own : all.map(([name, body]) => [name, { ...body, model }]);
}
