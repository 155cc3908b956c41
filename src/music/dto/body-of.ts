import 'reflect-metadata';
import { IntersectionType } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';

/**
 * The base class of a body, with all fields of the groups. Throws when two groups have a field of the same name: both
 * rules would be checked, but only the last would be documented.
 */
export const bodyOf: typeof IntersectionType = (...groups) => {
  const seen = new Set<string>();
  for (const group of groups) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(group, '', false, false);
    for (const name of new Set(rules.map(({ propertyName }) => propertyName))) {
      if (seen.has(name)) throw new Error(`two groups of a body hold a field ${name}`);
      seen.add(name);
    }
  }
  return IntersectionType(...groups);
};
