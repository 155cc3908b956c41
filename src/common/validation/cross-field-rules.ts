import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';

type Body = Readonly<Record<string, unknown>>;

/**
 * The field and `other` must not be sent together. A flag that is false counts as not sent. The rule is put on an
 * optional field, and the error names this field.
 */
export function ExcludedBy(other: string): PropertyDecorator {
  return ValidateBy(
    {
      name: `excludedBy_${other}`,
      validator: {
        validate: (value, args) => !isUsed(value) || !isUsed(bodyOf(args)[other]),
      },
    },
    { message: `$property cannot be combined with ${other}` },
  );
}

/** The field may be sent only if `other` has the value. A flag that is false always passes. */
export function Needs(other: string, value: string | boolean): PropertyDecorator {
  return ValidateBy(
    {
      name: `needs_${other}`,
      validator: { validate: (own, args) => !isUsed(own) || bodyOf(args)[other] === value },
    },
    { message: `$property needs ${other} = ${value}` },
  );
}

/** For a required field: it may be absent unless `other` has the value. */
export function RequiredWhen(other: string, value: string | boolean): PropertyDecorator {
  return RequiredIf((body) => body[other] === value);
}

/** For a required field: it may be absent unless `other` is sent. */
export function RequiredWith(other: string): PropertyDecorator {
  return RequiredIf((body) => body[other] !== undefined);
}

/** For a required field: it may be absent if `other` is sent. */
export function RequiredWithout(other: string): PropertyDecorator {
  return RequiredIf((body) => body[other] === undefined);
}

/** For a required field: it may be absent if all these flags are true. */
export function OptionalWhile(...flags: readonly string[]): PropertyDecorator {
  return RequiredIf((body) => !flags.every((flag) => body[flag] === true));
}

/** For a required field: it may be absent unless this holds for the body. */
export function RequiredIf(holds: (body: Body) => boolean): PropertyDecorator {
  return applyDecorators(
    ValidateIf((body: Body, value) => value !== undefined || holds(body)),
    ApiProperty({ required: false }),
  );
}

function isUsed(value: unknown): boolean {
  return value !== undefined && value !== false;
}

function bodyOf(args: { readonly object: object } | undefined): Body {
  return (args?.object ?? {}) as Body;
}
