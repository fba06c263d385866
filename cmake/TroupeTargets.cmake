# troupe_library(NAME SOURCES ... [PUBLIC ...] [PRIVATE ...] [CAF]): the static library troupe::NAME.
# CAF marks an actor shell: it may include CAF headers and shares their precompiled header.
function(troupe_library name)
  cmake_parse_arguments(ARG "CAF" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target troupe_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(troupe::${name} ALIAS ${target})
  target_link_libraries(${target} PUBLIC troupe_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_CAF)
    target_link_libraries(${target} PUBLIC CAF::core)
    troupe_use_caf_pch(${target})
  endif()
endfunction()

# CAF is slow to compile, so all actor shells share one precompiled header.
function(troupe_use_caf_pch target)
  if(NOT TARGET troupe_caf_pch)
    file(WRITE "${CMAKE_BINARY_DIR}/caf_pch.cpp" "// The owner of the precompiled CAF header.\n")
    add_library(troupe_caf_pch OBJECT "${CMAKE_BINARY_DIR}/caf_pch.cpp")
    target_link_libraries(troupe_caf_pch PUBLIC troupe_flags CAF::core)
    target_precompile_headers(troupe_caf_pch PRIVATE <caf/all.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM troupe_caf_pch)
  # The header was compiled as for a library, and can be used by nothing else.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# troupe_protobuf(TARGET FILE.proto ...): generates NAME.pb.h beside the folder's path in the build tree, so that
# it is included as "messages/control.pb.h".
function(troupe_protobuf target)
  foreach(proto IN LISTS ARGN)
    get_filename_component(base "${proto}" NAME_WE)
    file(RELATIVE_PATH folder "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
    set(out "${CMAKE_BINARY_DIR}/${folder}/${base}.pb")
    add_custom_command(
      OUTPUT "${out}.cc" "${out}.h"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/${folder}"
      COMMAND protobuf::protoc -I "${CMAKE_SOURCE_DIR}" --cpp_out "${CMAKE_BINARY_DIR}"
              "${CMAKE_CURRENT_SOURCE_DIR}/${proto}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${proto}"
      VERBATIM)
    target_sources(${target} PRIVATE "${out}.cc" "${out}.h")
    # Generated code answers to protoc's style, not to our warnings.
    set_source_files_properties("${out}.cc" PROPERTIES COMPILE_OPTIONS "-w")
  endforeach()
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
endfunction()
