import type { OpenAPIObject } from '@nestjs/swagger';

const FORM_TYPE = 'multipart/form-data';
const REFERENCE = '#/components/schemas/';
/** Methods of the document, in its spelling. */
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** A schema of the document, without references. */
export type DocumentSchema = Exclude<Schemas[string], { $ref: string }>;
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
/** An operation of the document. */
export type DocumentedOperation = NonNullable<OpenAPIObject['paths'][string]['post']>;

/** Every operation of the document. */
export function operationsOf(document: OpenAPIObject): DocumentedOperation[] {
  return Object.values(document.paths).flatMap((path) =>
    METHODS.map((method) => path[method]).filter((operation) => operation !== undefined),
  );
}

/** The name and schema of the form that an operation accepts; undefined if it accepts none. */
export function formOf(operation: DocumentedOperation) {
  const body = operation.requestBody;
  return body && 'content' in body ? body.content[FORM_TYPE] : undefined;
}

/**
 * Client generators treat a field with `default` as always present. A caller may leave it out, so the default is moved
 * into the description.
 */
export function describeDefaults(document: OpenAPIObject): void {
  for (const schema of Object.values(document.components?.schemas ?? {})) {
    if ('$ref' in schema) continue;
    for (const field of Object.values(schema.properties ?? {})) {
      if ('$ref' in field || field.default === undefined) continue;
      const told = `Default \`${String(field.default)}\``;
      field.description = field.description === undefined ? told : `${field.description}. ${told}`;
      delete field.default;
    }
  }
}

/** Gives each schema that a body chooses by its model the names of these models as its title, which Swagger UI shows. */
export function titleByModels(document: OpenAPIObject): void {
  const schemas = document.components?.schemas ?? {};
  for (const mapping of operationsOf(document).flatMap(modelMappingsOf)) {
    for (const reference of Object.values(mapping)) {
      const models = Object.entries(mapping).filter(([, of]) => of === reference);
      const title = models.map(([model]) => model).join(', ');
      Object.assign(schemas[nameOf(reference)] ?? {}, { title });
    }
  }
}

/** The schema by model of each body that an operation accepts. */
function modelMappingsOf({ requestBody }: DocumentedOperation): Readonly<Record<string, string>>[] {
  if (!requestBody || !('content' in requestBody)) return [];
  return Object.values(requestBody.content).flatMap(({ schema }) => {
    const mapping = schema && 'discriminator' in schema ? schema.discriminator.mapping : undefined;
    return mapping ? [mapping] : [];
  });
}

/**
 * A field `x[]` is the field `x` as forms of the OpenAI API spell it. Client generators give the items of both one name, so they
 * are one schema.
 */
export function shareListItems(document: OpenAPIObject): void {
  const schemas = document.components?.schemas ?? {};
  for (const [owner, schema] of Object.entries(schemas)) {
    const { properties = {} } = '$ref' in schema ? {} : schema;
    for (const [name, field] of Object.entries(properties)) {
      const spelt = properties[name.replace(/\[\]$/, '')];
      if (spelt === field || !spelt || '$ref' in spelt || '$ref' in field || !field.items) continue;
      const words = name.replaceAll(/(?:^|_)([a-z])|\[\]/g, (_, first = '') =>
        String(first).toUpperCase(),
      );
      schemas[`${owner}${words}Item`] = field.items;
      spelt.items = field.items = { $ref: `${REFERENCE}${owner}${words}Item` };
    }
  }
}

/** Name of the schema that a reference names. */
function nameOf(reference: string): string {
  return reference.slice(REFERENCE.length);
}

/** The document's schema of a media type, after following its reference. */
export function schemaOf(
  document: OpenAPIObject,
  schema: Schemas[string] | undefined,
): DocumentSchema | undefined {
  if (!schema || !('$ref' in schema)) return schema;
  return schemaOf(document, document.components?.schemas?.[nameOf(schema.$ref)]);
}
