/**
 * ESLint rule: a stream, socket, server, process or thread has an owner from birth. Node ends the process when one of
 * them fails while nobody listens, so code that makes one has to, before it waits for anything else,
 *
 * - listen: `make().on('error', …)`, or `const it = make()` and `it.on('error', …)` before the next `await`, or
 * - hand it to `pipeline(…)` or to a `for await` at once.
 *
 * `source.pipe(target)` is refused, because it leaves the target open when the source fails; `pipeline` does not.
 */ /** Emit no errors, or are never used as streams. */
const HARMLESS = new Set([
  'Express',
  'Hash',
  'Hmac',
  'CipherGCM',
  'DecipherGCM',
  'Agent',
  'Upload',
  'Logger',
]);

export const ownedEmitters = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object', properties: { mayPipe: { type: 'boolean' } } }],
    messages: {
      orphan: 'Nobody listens to the errors of this {{type}} from its birth.',
      pipe: 'Use pipeline: pipe leaves the target open when the source fails.',
    },
  },
  create(context) {
    const { program, getTypeAtLocation, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices;
    const checker = program.getTypeChecker();
    const typeOf = (node) => checker.getNonNullableType(getTypeAtLocation(node));
    const isEmitter = (type) =>
      type.getProperty('emit') !== undefined &&
      type.getProperty('removeAllListeners') !== undefined;

    /** Whether a library makes the object here. Functions of our own have made it owned; methods that return `this` make nothing. */
    const isBirth = (node) => {
      const type = typeOf(node);
      if (!isEmitter(type) || HARMLESS.has(nameOfType(type))) return false;
      if (node.type === 'NewExpression') return true;
      const { declaration } = checker.getResolvedSignature(esTreeNodeToTSNodeMap.get(node)) ?? {};
      const file = declaration?.getSourceFile();
      if (!file?.fileName.includes('/node_modules/')) return false;
      const isItself = declaration.type?.getText() === 'this';
      return !isItself && !program.isSourceFileDefaultLibrary(file) && !isChosen(declaration);
    };
    const nameOfType = (type) => checker.typeToString(type).replace(/<.*/, '');
    /** Whether the caller says what is returned, as with `get<T>(): T` of a container. */
    const isChosen = ({ type, typeParameters, parent }) =>
      [...(typeParameters ?? []), ...(parent?.typeParameters ?? [])].some(
        ({ name }) => name.text === type?.getText(),
      );

    const check = (node) => {
      if (isPipe(node)) {
        if (!context.options[0]?.mayPipe && isEmitter(typeOf(node.callee.object))) {
          context.report({ node, messageId: 'pipe' });
        }
        return;
      }
      if (!isBirth(node) || isOwned(node)) return;
      context.report({ node, messageId: 'orphan', data: { type: nameOfType(typeOf(node)) } });
    };
    return { CallExpression: check, NewExpression: check };
  },
};

const isPipe = ({ callee }) =>
  callee.type === 'MemberExpression' && callee.property.name === 'pipe';

function isOwned(birth) {
  const chain = endOfChain(birth);
  if (chain.listens || isTakenBy(chain.node)) return true;
  const holder = holderOf(chain.node);
  return holder !== undefined && isOwnedBeforeWait(holder.name, holder.statement);
}

/** The outermost of `make().on(…).once(…)`, and whether one of the links listens to errors. */
function endOfChain(birth) {
  let node = birth;
  let listens = false;
  for (;;) {
    const member = node.parent;
    const isLink = member.type === 'MemberExpression' && member.object === node;
    if (!isLink || member.parent.type !== 'CallExpression' || member.parent.callee !== member) {
      return { node, listens };
    }
    listens ||= listensToErrors(member.parent);
    node = member.parent;
  }
}

const listensToErrors = ({ callee, arguments: [event] }) =>
  callee.type === 'MemberExpression' && callee.property.name === 'on' && event?.value === 'error';

/** Whether `pipeline(…)` or a `for await` gets it. */
function isTakenBy(node) {
  const { parent } = node;
  if (parent.type === 'ForOfStatement') return parent.await && parent.right === node;
  return isPipeline(parent) && parent.arguments.includes(node);
}

const isPipeline = (node) =>
  node.type === 'CallExpression' &&
  node.callee.type === 'Identifier' &&
  node.callee.name === 'pipeline';

/** The name under which a statement keeps the object: `const name = make()`, `this.name = make()`, `name ??= make()`. */
function holderOf(node) {
  const { parent } = node;
  if (parent.type === 'VariableDeclarator' && parent.id.type === 'Identifier') {
    return { name: parent.id.name, statement: parent.parent };
  }
  if (parent.type !== 'AssignmentExpression' || parent.right !== node) return undefined;
  return { name: nameOf(parent.left), statement: parent.parent };
}

const nameOf = (node) => {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'ThisExpression') return 'this';
  return node.type === 'MemberExpression' ? `${nameOf(node.object)}.${node.property.name}` : '';
};

/** Whether a statement after it listens or pipes before any statement waits. */
function isOwnedBeforeWait(name, statement) {
  const statements = statement.parent.body;
  if (!Array.isArray(statements)) return false;
  for (const next of statements.slice(statements.indexOf(statement) + 1)) {
    const owner = first(next, (node) => owns(node, name));
    const wait = first(
      next,
      (node) => node.type === 'AwaitExpression' && !owns(node.argument, name),
    );
    if (owner) return wait === undefined || wait.range[0] > owner.range[0];
    if (wait) return false;
  }
  return false;
}

function owns(node, name) {
  if (node.type === 'ForOfStatement') return node.await && nameOf(node.right) === name;
  if (node.type !== 'CallExpression') return false;
  if (isPipeline(node)) return node.arguments.some((argument) => nameOf(argument) === name);
  if (!listensToErrors(node)) return false;
  let { object } = node.callee;
  while (object.type === 'CallExpression' && object.callee.type === 'MemberExpression') {
    object = object.callee.object;
  }
  return nameOf(object) === name;
}

/** The first node that fits, in the order of the text; functions inside run later and do not count. */
function first(node, fits) {
  if (fits(node)) return node;
  if (/Function/.test(node.type)) return undefined;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'parent') continue;
    for (const child of [value].flat()) {
      const found = typeof child?.type === 'string' ? first(child, fits) : undefined;
      if (found) return found;
    }
  }
  return undefined;
}
