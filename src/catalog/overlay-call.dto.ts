import { Checked, Flag, Nested, Pattern, Text } from '../common/validation/fields.js';

const MAX_NAME = 200;
const optional = { optional: true } as const;
const PATH = /^\/\S{0,500}$/;
const PATH_SAYS = 'must be a path that begins with a slash';
const NAMES = { max: MAX_NAME, ...optional, list: { min: 0, max: 100 } } as const;

/** The name of a field at an upstream. */
export class OverlayFieldName {
  @Text({ max: MAX_NAME })
  field!: string;

  @Text({ max: MAX_NAME })
  upstream_name!: string;
}

/** The upstream's word for a value of a field. */
export class OverlayFieldValue {
  @Text({ max: MAX_NAME })
  field!: string;

  @Text({ max: MAX_NAME })
  value!: string;

  @Text({ max: MAX_NAME })
  upstream_value!: string;
}

/** A field with the same value in every request. Without a value the field is not sent. */
export class OverlayConstant {
  @Text({ max: MAX_NAME })
  upstream_name!: string;

  @Checked(isScalar, 'must be text, a number, true or false', optional)
  value?: string | number | boolean;
}

/** A request that has to be sent before another. */
export class OverlayStep {
  @Pattern(PATH, PATH_SAYS)
  path!: string;

  @Text({ max: MAX_NAME, list: { min: 0, max: 100 } })
  takes!: string[];

  @Text({ max: MAX_NAME, ...optional })
  only_with?: string;

  @Nested(() => OverlayConstant, { ...optional, list: { min: 0, max: 100 } })
  constants?: OverlayConstant[];

  @Text({ max: MAX_NAME })
  keeps!: string;
}

/** How an upstream differs from the table of its protocol's adapter in one endpoint. */
export class OverlayCall {
  @Text({ max: MAX_NAME })
  call!: string;

  @Text({ max: MAX_NAME, ...optional })
  like?: string;

  @Pattern(PATH, PATH_SAYS, optional)
  path?: string;

  @Pattern(PATH, PATH_SAYS, optional)
  fetch_path?: string;

  @Nested(() => OverlayFieldName, { ...optional, list: { min: 1, max: 100 } })
  names?: OverlayFieldName[];

  @Nested(() => OverlayFieldValue, { ...optional, list: { min: 1, max: 100 } })
  values?: OverlayFieldValue[];

  @Nested(() => OverlayConstant, { ...optional, list: { min: 1, max: 100 } })
  constants?: OverlayConstant[];

  @Text(NAMES)
  omits?: string[];

  @Nested(() => OverlayStep, { ...optional, list: { min: 0, max: 8 } })
  steps?: OverlayStep[];

  @Nested(() => OverlayFieldName, { ...optional, list: { min: 1, max: 100 } })
  answer_names?: OverlayFieldName[];

  @Flag(optional)
  needs_title?: boolean;

  @Flag(optional)
  is_long?: boolean;
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
