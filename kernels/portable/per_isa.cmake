# SPDX-License-Identifier: Apache-2.0
# kvroof_per_isa(TARGET file.cc ...): compiles each file once for every instruction set that host
# kernels dispatch between at run time, with KVROOF_ISA naming the set and its namespace.
set(KVROOF_ISA_FLAGS_baseline "")
set(KVROOF_ISA_FLAGS_avx2 -mavx2 -mfma)
set(KVROOF_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma
    -mprefer-vector-width=512)
set(KVROOF_ISA_FLAGS_avx512_bf16 ${KVROOF_ISA_FLAGS_avx512} -mavx512bf16)

function(kvroof_per_isa target)
  kvroof_for_isas(${target} "baseline;avx2;avx512" ${ARGN})
endfunction()

# kvroof_for_isas(TARGET "isa;..." file.cc ...): for these sets alone.
function(kvroof_for_isas target isas)
  foreach(isa ${isas})
    add_library(${target}_${isa} OBJECT ${ARGN})
    target_link_libraries(${target}_${isa} PRIVATE kvroof_flags)
    target_compile_definitions(${target}_${isa} PRIVATE KVROOF_ISA=${isa})
    # Contraction to FMA, and no errno or trap bookkeeping: what lets plain loops become vectors.
    target_compile_options(${target}_${isa} PRIVATE ${KVROOF_ISA_FLAGS_${isa}} -O3 -fopenmp-simd
                           -ffp-contract=fast -fno-math-errno -fno-trapping-math)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${isa}>)
  endforeach()
endfunction()
