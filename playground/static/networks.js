// Networks of ONNX Runtime Web, computed at once. Its own JavaScript answers with promises, and Python in a worker cannot
// wait for one; so these functions call the C functions of the same module, as `ort.wasm.mjs` does.

import factory from "../onnxruntime/ort-wasm-simd-threaded.mjs";

const ALL_OPTIMIZATIONS = 99, SEQUENTIAL = 0, SILENT = 4, ON_CPU = 1;

let ort = null;

export async function start() {
  ort = await factory({numThreads: 1});
  demand(ort._OrtInit(1, SILENT) === 0, "cannot start ONNX Runtime");
}

function demand(good, what) {
  if (good) return;
  const place = ort.stackAlloc(8);
  ort._OrtGetLastError(place, place + 4);
  const message = ort.getValue(place + 4, "*");
  throw new Error(`${what}: ${message ? ort.UTF8ToString(message) : "unknown error"}`);
}

// Call a function whose memory on the stack and on the heap is freed afterwards.
function borrowing(work) {
  const stack = ort.stackSave(), owned = [];
  const text = value => {
    const size = ort.lengthBytesUTF8(value) + 1, place = ort._malloc(size);
    owned.push(place);
    ort.stringToUTF8(value, place, size);
    return place;
  };
  const bytes = content => {
    const place = ort._malloc(Math.max(content.byteLength, 1));
    owned.push(place);
    ort.HEAPU8.set(content, place);
    return place;
  };
  const pointers = values => {
    const place = ort.stackAlloc(4 * Math.max(values.length, 1));
    values.forEach((value, index) => ort.setValue(place + 4 * index, value, "*"));
    return place;
  };
  try {
    return work({text, bytes, pointers});
  } finally {
    owned.forEach(place => ort._free(place));
    ort.stackRestore(stack);
  }
}

// Prepare a network; `settings` are pairs of names and values. The result has a number, and the names, types and shapes
// of all inputs and outputs.
export function create(network, settings) {
  return borrowing(({text, bytes, pointers}) => {
    const options = ort._OrtCreateSessionOptions(ALL_OPTIMIZATIONS, 0, 0, SEQUENTIAL, 0, 0, 0, SILENT, 0, 0);
    demand(options !== 0, "cannot make options");
    for (const [name, value] of settings)
      demand(ort._OrtAddSessionConfigEntry(options, text(name), text(value)) === 0, `cannot set ${name}`);
    const session = ort._OrtCreateSession(bytes(network), network.byteLength, options);
    demand(session !== 0, "cannot read the network");
    ort._OrtReleaseSessionOptions(options);
    const counts = pointers([0, 0]);
    demand(ort._OrtGetInputOutputCount(session, counts, counts + 4) === 0, "cannot count inputs");
    const inputs = ort.getValue(counts, "i32"), outputs = ort.getValue(counts + 4, "i32");
    const all = Array.from({length: inputs + outputs}, (_, index) => described(session, index, pointers));
    return {session, inputs: all.slice(0, inputs), outputs: all.slice(inputs)};
  });
}

function described(session, index, pointers) {
  const places = pointers([0, 0]);
  demand(ort._OrtGetInputOutputMetadata(session, index, places, places + 4) === 0, "cannot describe the network");
  const name = ort.getValue(places, "*"), about = ort.getValue(places + 4, "*");
  const rank = ort.getValue(about + 4, "i32");
  const shape = Array.from({length: rank}, (_, axis) => {  // -1 where it may vary
    const symbol = ort.getValue(about + 8 + 4 * axis, "*");
    return symbol ? -1 : ort.getValue(about + 8 + 4 * (rank + axis), "i32");
  });
  const result = {name: ort.UTF8ToString(name), type: ort.getValue(about, "i32"), shape};
  ort._OrtFree(about);
  ort._OrtFree(name);
  return result;
}

// Compute outputs by their names. An input is {name, type, shape, content}, with ONNX's number for its type and bytes.
export function run(session, inputs, outputs) {
  return borrowing(({text, bytes, pointers}) => {
    const tensors = inputs.map(({type, shape, content}) => {
      const tensor = ort._OrtCreateTensor(
        type, bytes(content), content.byteLength, pointers(shape), shape.length, ON_CPU);
      demand(tensor !== 0, "cannot make an input");
      return tensor;
    });
    const results = pointers(outputs.map(() => 0));
    try {
      demand(ort._OrtRun(
        session, pointers(inputs.map(({name}) => text(name))), pointers(tensors), inputs.length,
        pointers(outputs.map(text)), outputs.length, results, 0) === 0, "cannot compute the network");
    } finally { tensors.forEach(tensor => ort._OrtReleaseTensor(tensor)); }
    return outputs.map((_, index) => taken(ort.getValue(results + 4 * index, "*"), pointers));
  });
}

function taken(tensor, pointers) {
  const places = pointers([0, 0, 0, 0]);
  try {
    demand(ort._OrtGetTensorData(tensor, places, places + 4, places + 8, places + 12) === 0, "cannot read an output");
    const [type, data, dimensions, rank] = [0, 4, 8, 12].map(offset => ort.getValue(places + offset, "*"));
    const shape = Array.from({length: rank}, (_, axis) => ort.getValue(dimensions + 4 * axis, "i32"));
    ort._OrtFree(dimensions);
    const size = shape.reduce((product, length) => product * length, WIDTHS[type]);
    return {type, shape, content: ort.HEAPU8.slice(data, data + size)};
  } finally { ort._OrtReleaseTensor(tensor); }
}

const WIDTHS = {1: 4, 2: 1, 3: 1, 6: 4, 7: 8, 9: 1};  // bytes of a number, by ONNX's numbers for types
