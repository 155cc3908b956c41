import type { PartFault } from './fields.js';

/** A fault of the part at this path; see {@link PartFault}. */
export const faultAt = (at: string, says: string): PartFault => ({ at, says });

/** The fault of an inner part, as one of the value that has it at this path. */
export const within = (at: string, fault: PartFault | undefined): PartFault | undefined =>
  fault && faultAt(at + fault.at, fault.says);
