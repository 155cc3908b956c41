import type { OpenAPIObject } from '@nestjs/swagger';

const FORM_TYPE = 'multipart/form-data';
const REFERENCE = '#/components/schemas/';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

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

/** The name and schema of the form that an operation accepts besides JSON; undefined if it accepts none. */
export function formOf(operation: DocumentedOperation) {
  const body = operation.requestBody;
  return body && 'content' in body ? body.content[FORM_TYPE] : undefined;
}

/**
 * A body that may be a form has one class for both formats. Here the form gets its own schema, with the file. In the
 * JSON body, which can hold no file, the URL becomes required.
 */
export function splitForms(document: OpenAPIObject): void {
  for (const operation of operationsOf(document)) {
    const form = formOf(operation);
    if (!form) continue;
    delete form.examples;
    const shared = schemaOf(document, form.schema);
    if (!form.schema || !('$ref' in form.schema) || !shared?.properties?.file) continue;
    form.schema = { $ref: splitForm(document, nameOf(form.schema.$ref), shared) };
  }
}

/** Adds both schemas to the document; returns the reference to that of the form. */
function splitForm(document: OpenAPIObject, name: string, shared: DocumentSchema): string {
  const { file: _file, ...properties } = shared.properties ?? {};
  const required = [...(shared.required ?? []), 'audio_url'];
  const formName = name.replace(/Body$/, 'Form');
  const schemas = { [formName]: shared, [name]: { ...shared, properties, required } };
  Object.assign(document.components?.schemas ?? {}, schemas);
  return `${REFERENCE}${formName}`;
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
