import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { ModelRow } from '../catalog/model-row.js';
import { OPERATIONS } from '../catalog/operations.js';

/** The parts of a schema of the document that are read here. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly discriminator?: { readonly mapping?: Readonly<Record<string, string>> };
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Bounds of a field under wire names. Those that it does not have are absent. */
export type FieldLimits = Readonly<Record<string, unknown>>;

/** The fields of a model's requests, from the OpenAPI document, which is generated from the request classes. */
@Injectable()
export class ModelParameters {
  private document: OpenAPIObject | undefined;

  /** Called once, with the finished document. */
  readFrom(document: OpenAPIObject): void {
    this.document = document;
  }

  /** The fields by their names, in order; none for an endpoint that is not in the document. */
  of(row: ModelRow): ReadonlyMap<string, FieldLimits> {
    const body = this.document?.paths[OPERATIONS[row.operation].path]?.post?.requestBody;
    const contents = body && 'content' in body ? Object.values(body.content) : [];
    const left = leftOutOf(row);
    const fields = contents
      .flatMap(({ schema }) => this.fieldsOf(schema, row.id))
      .filter(([name]) => !left.has(name));
    const own = ownLimitsOf(row);
    return new Map(
      fields.map(([name, schema]) => [name, { ...this.limitsOf(schema), ...own[name] }]),
    );
  }

  private fieldsOf(schema: Schema | undefined, model: string): [string, Schema][] {
    if (schema === undefined) return [];
    const reference = schema.discriminator?.mapping?.[model] ?? schema.$ref;
    if (reference === undefined) return Object.entries(schema.properties ?? {});
    return this.fieldsOf(this.named(reference), model);
  }

  private named(reference: string): Schema | undefined {
    return this.document?.components?.schemas?.[reference.split('/').at(-1) ?? ''];
  }

  /** Lengths are Unicode code points. The bounds of a list's entries are listed beside those of the list. */
  private limitsOf(schema: Schema): FieldLimits {
    const own = {
      values: schema.enum,
      min: schema.minimum,
      max: schema.maximum,
      min_length: schema.minLength === 0 ? undefined : schema.minLength,
      max_length: schema.maxLength,
      min_items: schema.minItems,
      max_items: schema.maxItems,
    };
    const bounds = Object.entries(own).filter(([, bound]) => bound !== undefined);
    const { items } = schema;
    const entry = items?.$ref === undefined ? items : this.named(items.$ref);
    return { ...(entry && this.limitsOf(entry)), ...Object.fromEntries(bounds) };
  }
}

/** Bounds that are narrower for this model than for others of the endpoint. */
function ownLimitsOf({ operation, price }: ModelRow): Readonly<Record<string, FieldLimits>> {
  const isBySong = operation === 'composition' && price.unit === 'request';
  return isBySong ? { response_format: { values: ['mp3'] } } : {};
}

/** Fields that only some models of the endpoint take, and this one does not. */
function leftOutOf(row: ModelRow): ReadonlySet<string> {
  if (row.operation === 'image') {
    const { outputFormats } = row.limits;
    return new Set(outputFormats ? [] : ['output_format', 'output_compression']);
  }
  if (row.operation === 'composition')
    return new Set(row.price.unit === 'request' ? ['duration_seconds'] : []);
  if (row.operation !== 'video') return new Set();
  const { maxImageUrls, resolutions, audio, frames = [] } = row.limits;
  return new Set([
    ...(resolutions ? [] : ['resolution']),
    ...(audio === true ? [] : ['audio']),
    ...(frames.includes('first') ? [] : ['first_frame_url']),
    ...(frames.includes('last') ? [] : ['last_frame_url']),
    ...(maxImageUrls > 0 ? [] : ['image_urls']),
  ]);
}
