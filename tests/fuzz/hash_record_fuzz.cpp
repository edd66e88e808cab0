// Any text: a record of hashes, which written and read again is the same, or an Error(data).
#include "fuzz/expect_refusal.h"
#include "store/hash_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  fuzz::accept_or_refuse(Fault::data, [&] {
    const store::HashRecord record =
        store::parse_hash_record({reinterpret_cast<const char*>(data), size}, "fuzz");
    std::string text = store::hash_record_header(record.tensors);
    for (std::size_t i = 0; i < record.rows.size(); ++i)
      text += store::hash_record_row(record.steps[i], record.rows[i]);
    const store::HashRecord again = store::parse_hash_record(text, "written");
    fuzz::expect(again.tensors == record.tensors && again.steps == record.steps);
    fuzz::expect(again.rows == record.rows && !store::first_difference(again, record));
  });
  return 0;
}
